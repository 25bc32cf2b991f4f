/** An answer in JSON, of which the server makes the response. */
export interface JsonAnswer {
  jsonText: string
  status: number
  /** Beside those that every answer has. */
  headers?: Readonly<Record<string, string>>
}

/** What is answered: a response with all its headers, or JSON. */
export type AnyAnswer = Response | JsonAnswer

/** A value as an answer in JSON. Its headers are these: those that a context was given are not among them. */
export function jsonAnswer(
  value: unknown,
  status = 200,
  headers?: JsonAnswer['headers'],
): JsonAnswer {
  return { jsonText: JSON.stringify(value), status, headers }
}
