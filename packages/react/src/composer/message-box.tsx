import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { useMedia } from '../ui/use-media.ts'

/** Properties of {@link MessageBox}. */
export interface MessageBoxProps {
  ref?: Ref<HTMLTextAreaElement | null>
  value: string
  onChange: (text: string) => void
  onFiles: (files: File[]) => void
  /** Called on Enter, or on Ctrl Enter, which `steers` the current run. */
  onSend: (how: { steers: boolean }) => void
}

/** Renders the text field. It grows with its text. Enter sends, and pasted files are attached. */
export function MessageBox({ ref, value, onChange, onFiles, onSend }: MessageBoxProps) {
  const element = useRef<HTMLTextAreaElement>(null)
  // One line has no room for more, also with large text, and a phone drops no files.
  const isNarrow = useMedia('(max-width: 40rem)')
  useImperativeHandle<HTMLTextAreaElement | null, HTMLTextAreaElement | null>(
    ref,
    () => element.current,
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useEffect(() => {
    const box = element.current
    if (!box) return
    box.style.height = 'auto'
    // The thread keeps most of a low window, and of one with large text.
    box.style.height = `${Math.min(box.scrollHeight, 240, innerHeight / 5)}px`
  }, [value])

  return (
    <textarea
      ref={element}
      rows={1}
      dir="auto"
      value={value}
      aria-label="Message"
      placeholder={isNarrow ? 'Ask…' : 'Ask, or drop a file…'}
      onChange={(event) => onChange(event.target.value)}
      onPaste={(event) => {
        const files = [...event.clipboardData.files]
        if (files.length === 0) return
        event.preventDefault()
        onFiles(files)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
        event.preventDefault()
        onSend({ steers: event.ctrlKey || event.metaKey })
      }}
      className="block min-h-10 w-full resize-none bg-transparent px-3.5 pt-3 pb-1 text-base outline-hidden placeholder:text-ink-3 max-md:text-[1rem]"
    />
  )
}
