import { Upload } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'

/** Accepts files that are dropped anywhere on the page, and shows that while they hover. */
export function DropZone({ onFiles }: { onFiles: (files: File[]) => void }) {
  const [hovering, setHovering] = useState(false)
  const take = useRef(onFiles)
  useEffect(() => {
    take.current = onFiles
  })

  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setHovering(true)
    }
    const onLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setHovering(false)
    }
    const onDrop = (event: DragEvent) => {
      setHovering(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      take.current([...(event.dataTransfer?.files ?? [])])
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [])

  if (!hovering) return null
  return (
    <div className="pointer-events-none fixed inset-0 z-50 grid place-items-center bg-surface/80 p-6 backdrop-blur-xs">
      <p className="flex items-center gap-3 rounded-xl border-2 border-dashed border-ring bg-raised px-8 py-6 text-base font-medium shadow-float">
        <Upload className="size-5 text-ring" aria-hidden /> Drop to attach
      </p>
    </div>
  )
}
