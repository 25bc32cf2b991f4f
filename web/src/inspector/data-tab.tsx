/** Data */
export function DataTab() {
  return null
}
