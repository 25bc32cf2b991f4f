import { Upload } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { cn } from '../ui/cn.ts'

/** Properties of {@link DropZone}. */
export interface DropZoneProps {
  onFiles: (files: File[]) => void
  /** Where files can be dropped. Default: anywhere on the page. */
  within?: RefObject<HTMLElement | null>
}

/** Accepts files that are dropped, and shows that while they hover. */
export function DropZone({ onFiles, within }: DropZoneProps) {
  const [hovering, setHovering] = useState(false)
  const take = useRef(onFiles)
  useEffect(() => {
    take.current = onFiles
  })

  useEffect(() => {
    // Typed as an element, because the events of an element and a document are the same.
    const area: Pick<HTMLElement, 'addEventListener' | 'removeEventListener' | 'contains'> =
      within?.current ?? document
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setHovering(true)
    }
    const onLeave = (event: DragEvent) => {
      if (!area.contains(event.relatedTarget as Node | null)) setHovering(false)
    }
    const onDrop = (event: DragEvent) => {
      setHovering(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      take.current([...(event.dataTransfer?.files ?? [])])
    }
    area.addEventListener('dragover', onOver)
    area.addEventListener('dragleave', onLeave)
    area.addEventListener('drop', onDrop)
    return () => {
      area.removeEventListener('dragover', onOver)
      area.removeEventListener('dragleave', onLeave)
      area.removeEventListener('drop', onDrop)
    }
  }, [within])

  if (!hovering) return null
  return (
    <div
      className={cn(
        'pointer-events-none inset-0 z-50 grid place-items-center bg-surface/80 p-6 backdrop-blur-xs',
        within ? 'absolute' : 'fixed',
      )}
    >
      <p className="flex items-center gap-3 rounded-xl border-2 border-dashed border-ring bg-raised px-8 py-6 text-base font-medium shadow-float">
        <Upload className="size-5 text-ring" aria-hidden /> Drop to attach
      </p>
    </div>
  )
}
