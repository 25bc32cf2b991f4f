import { useChangeView, useView } from '../app/navigation.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'

const CompareDialog = lazyPart(async () => (await import('./compare-dialog.tsx')).CompareDialog)

/** Opens the comparison of two versions that the address names. */
export function Comparison() {
  const { compare, against } = useView()
  const change = useChangeView()
  if (compare === undefined) return null
  return (
    <CompareDialog
      after={compare}
      before={against}
      onChange={(chosen) => change(chosen, { replace: true })}
      onClose={() => change({ compare: undefined, against: undefined })}
    />
  )
}
