import { ApiError } from 'byref/client'

/** What to tell a person of anything that was thrown. */
export function errorText(error: unknown): { code?: string; message: string } {
  if (error instanceof ApiError) return { code: error.code, message: error.message }
  if (error instanceof Error) return { message: error.message || error.name }
  return { message: String(error) }
}
