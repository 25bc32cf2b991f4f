import { anthropic } from '@ai-sdk/anthropic'

/** The model that answers. Its key is ANTHROPIC_API_KEY in .env. */
export const model = anthropic(process.env.BYREF_MODEL || '{{model}}')
