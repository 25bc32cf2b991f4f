import { createChatHandler } from 'byref/ai-sdk'
import { agent } from '../../byref.js'

const handler = createChatHandler({ agent })
const serve = (request) => handler(request)

export { serve as DELETE, serve as GET, serve as POST }
