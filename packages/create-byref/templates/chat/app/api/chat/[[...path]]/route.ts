import { createChatHandler } from 'byref/ai-sdk'
import { getAgent } from '../../../../lib/agent'

const handler = createChatHandler({
  // In an app with users: async (request) => getAgent().scoped(await userOf(request))
  agent: () => getAgent(),
  assetUrl: (ref) => `/api/assets/${encodeURIComponent(ref)}`,
})
const serve = (request: Request) => handler(request)

export { serve as DELETE, serve as GET, serve as POST }
