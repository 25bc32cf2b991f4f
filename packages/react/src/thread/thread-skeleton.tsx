import { cn } from '../ui/cn.ts'

/** Renders the outline of a conversation while it loads. */
export function ThreadSkeleton() {
  return (
    <div role="status" aria-label="Loading the conversation" className="space-y-6 pt-2">
      {['w-1/2', 'w-4/5', 'w-2/3'].map((width) => (
        <div key={width} className="flex gap-2">
          <div className="size-6 animate-pulse rounded-full bg-hover" />
          <div className="flex-1 space-y-2 pt-1">
            <div className="h-3 w-24 animate-pulse rounded bg-hover" />
            <div className={cn('h-3 animate-pulse rounded bg-hover', width)} />
          </div>
        </div>
      ))}
    </div>
  )
}
