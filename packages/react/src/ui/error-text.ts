import { ApiError } from 'byref/client'

/** Returns the code and the message of any thrown value, for people. */
export function errorText(error: unknown): { code?: string; message: string } {
  if (error instanceof ApiError) return { code: error.code, message: error.message }
  if (error instanceof Error) return { message: error.message || error.name }
  return { message: String(error) }
}
