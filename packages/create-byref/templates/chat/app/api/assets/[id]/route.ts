import { createAssetHandler } from 'byref/ai-sdk'
import { getAgent } from '../../../../lib/agent'

// In an app with users: async (request) => getAgent().scoped(await userOf(request)).assets
const handler = createAssetHandler({ assets: () => getAgent().assets })

export const GET = (request: Request) => handler(request)
