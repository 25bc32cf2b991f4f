import { useEffect, useRef, useState } from 'react'
import { Announcement } from '../ui/announcement.tsx'
import type { Upload } from './attached-files.ts'

/** Tells screen readers when a file is attached, or why it is not. */
export function UploadStatus({ uploads }: { uploads: readonly Upload[] }) {
  const [text, setText] = useState('')
  const before = useRef<ReadonlyMap<number, Upload['status']>>(new Map())
  useEffect(() => {
    const ended = uploads.filter(
      ({ key, status }) => status !== 'sending' && before.current.get(key) !== status,
    )
    before.current = new Map(uploads.map(({ key, status }) => [key, status]))
    if (ended.length > 0) setText(ended.map(textOf).join(' '))
    else if (uploads.length === 0) setText('')
  }, [uploads])
  return <Announcement text={text} />
}

function textOf({ file, error }: Upload): string {
  return error ? `${file.name} was not attached. ${error.message}` : `${file.name} is attached.`
}
