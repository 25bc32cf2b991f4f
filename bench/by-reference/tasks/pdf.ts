import type { Task } from '../play.ts'

const pdf = Buffer.from(
  `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`,
)
const FIRST = 'Summarise the report in two sentences.'
const SECOND = 'Which risks does it name?'
const answers = [
  'Revenue grew by 12 % in 2025, mostly in Asia. Costs stayed flat.',
  'Currency, one large customer and the supply of chips.',
]

/** The model reads a file itself, for two questions. References save nothing. */
export const pdfFile: Task = {
  name: 'PDF',
  about: 'a PDF that the model reads itself, two questions',
  async byref(assets) {
    const { ref } = await assets.save(new Uint8Array(pdf), 'application/pdf', {
      name: 'report.pdf',
    })
    return {
      tools: [],
      says: [
        { role: 'user', content: FIRST, metadata: { attachments: [{ assetRef: ref }] } },
        { role: 'user', content: SECOND },
      ],
      answers,
    }
  },
  value: () => ({
    tools: [],
    says: [
      {
        role: 'user',
        content: [
          { type: 'text', text: FIRST },
          {
            type: 'file',
            data: pdf.toString('base64'),
            mediaType: 'application/pdf',
            filename: 'report.pdf',
          },
        ],
      },
      { role: 'user', content: SECOND },
    ],
    answers,
  }),
}
