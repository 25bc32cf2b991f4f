import { useChangeView } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { Confirm } from '../../ui/confirm.tsx'

/** Asks whether to delete an asset, and deletes it. */
export function DeleteAsset({
  id,
  name,
  onClose,
}: {
  id: string
  name: string | null
  onClose: () => void
}) {
  const { assetQuery, client, queries } = useServer()
  const change = useChangeView()
  return (
    <Confirm
      title="Delete this file?"
      action="Delete"
      onClose={onClose}
      onConfirm={async () => {
        await client.deleteAsset(`asset://${id}`)
        queries.setQueryData(assetQuery(id).queryKey, null)
        change({ asset: undefined })
      }}
    >
      {name ?? id} is deleted permanently, for all conversations. References to it no longer work,
      and agents can no longer read it.
    </Confirm>
  )
}
