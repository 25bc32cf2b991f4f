import { createAssetHandler } from 'byref/ai-sdk'
import { refs } from '../../../byref.js'

// An app with users gives those of whoever asks: async (request) => refs.scoped(await userOf(request)).assets
const handler = createAssetHandler({ assets: refs.assets })

export const GET = (request) => handler(request)
