import { createOpenAICompatible } from '@ai-sdk/openai-compatible'

const provider = createOpenAICompatible({
  name: 'openai-compatible',
  baseURL: process.env.OPENAI_BASE_URL || '{{baseUrl}}',
  apiKey: process.env.OPENAI_API_KEY || undefined,
})

/** The model that answers: that of a server with OpenAI's API, such as Ollama, vLLM or llama.cpp. */
export const model = provider(process.env.BYREF_MODEL || '{{model}}')
