/** Reads the beginning of a body as text, at most `limit` bytes. The rest is not loaded. */
export async function readStart(
  response: Response,
  limit: number,
): Promise<{ text: string; cut: boolean }> {
  if (!response.body) return { text: '', cut: false }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let read = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text: text + decoder.decode(), cut: false }
      const room = limit - read
      read += value.length
      text += decoder.decode(value.subarray(0, room), { stream: true })
      if (value.length > room) return { text, cut: true }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
