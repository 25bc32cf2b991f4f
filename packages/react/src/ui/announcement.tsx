import { useEffect, useState } from 'react'

/** Tells screen readers a text, politely, each time it changes. Nothing is visible. */
export function Announcement({ text }: { text: string }) {
  // Screen readers announce changes of an element, not what it has when it appears.
  const [said, setSaid] = useState('')
  useEffect(() => setSaid(text), [text])
  return (
    <p role="status" className="sr-only">
      {said}
    </p>
  )
}
