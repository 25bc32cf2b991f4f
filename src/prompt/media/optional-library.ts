/** A library that need not be installed; null where it is not. */
export async function optionalLibrary<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load()
  } catch {
    // Also one whose binaries do not fit the machine.
    return null
  }
}
