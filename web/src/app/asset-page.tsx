import { Header } from './header.tsx'

/** An asset on a page of its own. */
export function AssetPage({ id }: { id: string; fieldPath: string }) {
  return (
    <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
      <Header title={id} />
    </main>
  )
}
