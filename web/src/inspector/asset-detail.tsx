/** One asset. */
export function AssetDetail({ id }: { id: string; entry: unknown }) {
  return <p>{id}</p>
}
