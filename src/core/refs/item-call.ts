/** Returns the id of one item's call, in a mapped call: `<call>/<index>`. */
export function itemCallId(callId: string, index: number | string): string {
  return `${callId}/${index}`
}

/** Returns the id of the mapped call that an item's id belongs to. For any other id, returns it unchanged. */
export function callIdOf(id: string): string {
  return id.replace(/\/\d+$/, '')
}
