import { optionalPeer } from '../../optional-peer.ts'
import { optionalLibrary } from './optional-library.ts'

/** What the library says of a file that is not as it should be is nobody's to read. */
const QUIET = { verbosity: 0 }

/** How many pages a PDF has, by `unpdf`; without it as many as can be seen. Null where it is not a PDF. */
export async function pdfPages(
  bytes: Uint8Array,
  load: () => Promise<typeof import('unpdf')> = () => optionalPeer('unpdf', 'Reading PDF files'),
): Promise<number | null> {
  const library = await optionalLibrary(load)
  if (!library)
    return (
      Buffer.from(bytes)
        .toString('latin1')
        .split(/\/Type\s*\/Page\b/).length - 1
    )
  try {
    const pdf = await library.getDocumentProxy(bytes.slice(), QUIET)
    const { numPages } = pdf
    await pdf.loadingTask.destroy()
    return numPages
  } catch {
    return null
  }
}
