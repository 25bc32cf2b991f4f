/**
 * The check of an option that other libraries call something else. If these names are used, the error suggests the
 * option.
 */
export function called<Check extends object>(check: Check, ...aka: string[]): Check {
  return { ...check, aka }
}
