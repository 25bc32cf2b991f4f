import type { Withheld } from 'byref/client'
import { Lock } from 'lucide-react'
import { formatCount } from '../ui/format.ts'

const NAMES: Record<Withheld['type'], string> = {
  text: 'A text',
  object: 'An object',
  list: 'A list',
  number: 'A number',
  boolean: 'Yes or no',
  null: 'Nothing',
}

/** Replaces a value that the user may not read. */
export function WithheldValue({ value: { type, size } }: { value: Withheld }) {
  return (
    <p className="flex items-start gap-1.5 text-xs text-ink-2">
      <Lock className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      <span>
        {NAMES[type]} of about {formatCount(size)} characters, withheld: you are not among its
        readers.
      </span>
    </p>
  )
}
