import { ByrefError } from '../../core/errors.ts'
import { type OptionalPeer, optionalPeer } from '../../optional-peer.ts'
import { TableError } from './table-error.ts'

/**
 * A library that reads some form of tables.
 *
 * @throws TableError where it is not installed: the file stays what it is
 */
export async function tableLibrary<Name extends OptionalPeer>(
  specifier: Name,
  { name, purpose }: { name: string; purpose: string },
) {
  try {
    return await optionalPeer(specifier, purpose)
  } catch (error) {
    if (!(error instanceof ByrefError)) throw error
    throw new TableError({ name, line: null, reason: error.message }, { cause: error })
  }
}
