import { google } from '@ai-sdk/google'

/** The model that answers. Its key is GOOGLE_GENERATIVE_AI_API_KEY in .env. */
export const model = google(process.env.BYREF_MODEL || '{{model}}')
