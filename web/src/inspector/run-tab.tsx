/** Run */
export function RunTab() {
  return null
}
