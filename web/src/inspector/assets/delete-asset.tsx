import { assetQuery, client, queries } from '../../app/client.ts'
import { useChangeView } from '../../app/view.tsx'
import { Confirm } from '../../ui/confirm.tsx'

/** Asks whether an asset is to be deleted, and does it. */
export function DeleteAsset({
  id,
  name,
  onClose,
}: {
  id: string
  name: string | null
  onClose: () => void
}) {
  const change = useChangeView()
  return (
    <Confirm
      title="Delete this asset?"
      action="Delete"
      onClose={onClose}
      onConfirm={async () => {
        await client.deleteAsset(`asset://${id}`)
        queries.setQueryData(assetQuery(id).queryKey, null)
        change({ asset: undefined })
      }}
    >
      {name ?? id} is gone for good then, for all conversations: references to it lead nowhere, and
      agents cannot read it any more.
    </Confirm>
  )
}
