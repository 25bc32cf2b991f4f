import { readLabelTree, type WrittenLabelTree, wholeOf } from 'byref/client'
import { formatCount } from '../ui/format.ts'

/** The words for a label. Null for nothing to say. */
export interface LabelWords {
  untrusted: string | null
  private: string | null
}

/** Returns a label in words. */
export function labelWords(label: WrittenLabelTree | undefined): LabelWords {
  if (!label) return { untrusted: null, private: null }
  const tree = readLabelTree(label)
  const { integrity, confidentiality, readers } = wholeOf(tree)
  return {
    untrusted: integrity === 'untrusted' ? `untrusted${partsOf(label, 'integrity')}` : null,
    private:
      confidentiality === 'private'
        ? `${forReaders(readers)}${partsOf(label, 'confidentiality')}`
        : null,
  }
}

/** Returns who may read a private value. */
export function forReaders(readers: readonly string[] | null | undefined): string {
  if (!readers) return 'private'
  return readers.length === 0 ? 'private to nobody' : `private to ${listed(readers)}`
}

/** Returns names as part of a sentence. Of many names it lists the first few. */
export function listed(names: readonly string[]): string {
  const shown =
    names.length > 4 ? [...names.slice(0, 3), `${formatCount(names.length - 3)} more`] : names
  if (shown.length < 2) return shown[0] ?? ''
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Returns the fields with the label, if it is not on the whole value. */
function partsOf(label: WrittenLabelTree, part: 'integrity' | 'confidentiality'): string {
  if (label[part] !== undefined || !label.fields) return ''
  const names = Object.entries(label.fields).flatMap(([name, field]) =>
    JSON.stringify(field).includes(`"${part}":`) ? [name === '*' ? 'every item' : name] : [],
  )
  return names.length > 0 ? ` in ${listed(names)}` : ''
}
