import { openai } from '@ai-sdk/openai'

/** The model that answers. Its key is OPENAI_API_KEY in .env. */
export const model = openai(process.env.BYREF_MODEL || '{{model}}')
