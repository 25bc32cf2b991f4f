import { describe, expect, it } from 'vitest'
import { pdfOf } from '../../prompt/fixtures/bodies.ts'
import { createAssets } from '../create-assets.ts'

const HELVETICA = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'

/** A font whose codes are Shift JIS. */
const JAPANESE =
  '<< /Type /Font /Subtype /Type0 /BaseFont /Mincho /Encoding /90ms-RKSJ-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Mincho /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>] >>'

/** A PDF of one page in the fonts F1 and F2, with form fields and other annotations. */
function onePage(content: string, fields: readonly string[] = []): Uint8Array {
  const refs = fields.map((_, i) => `${5 + i} 0 R`).join(' ')
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R ${refs && `/AcroForm << /Fields [${refs}] >>`} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 ${HELVETICA} /F2 ${JAPANESE} >> >> /Contents 4 0 R /Annots [${refs}] >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ...fields.map(
      (field) =>
        `<< /Type /Annot /Rect [9 9 99 99] ${field.includes('/Subtype') ? field : `/Subtype /Widget ${field}`} >>`,
    ),
  ])
}

async function textOf(pdf: Uint8Array) {
  const assets = createAssets()
  const { ref } = await assets.save(pdf, 'application/pdf', { name: 'x.pdf' })
  return (await assets.text(ref)).text
}

const english = 'BT /F1 24 Tf 72 700 Td (Name:) Tj ET'
const japanese = 'BT /F2 24 Tf 72 600 Td <93FA967B> Tj ET'

describe('pdfPages', () => {
  it('returns what was entered into a form', async () => {
    const states = '/AP << /N << /Yes 4 0 R /Off 4 0 R >> >>'
    const form = onePage(english, [
      '/FT /Tx /T (name) /V (Ada\\rLovelace)',
      '/FT /Tx /T (empty)',
      `/FT /Btn /T (agrees) /V /Yes /AS /Yes ${states}`,
      '/FT /Ch /T (fruit) /Ff 2097152 /V [(fig) (plum)] /Opt [(fig) (plum) (kiwi)]',
    ])
    expect(await textOf(form)).toBe(
      '[Page 1 of 1]\nName:\nname: Ada\nLovelace\nagrees: Yes\nfruit: fig, plum',
    )
  })

  it('returns the target of each link once', async () => {
    const link = (uri: string) => `/Subtype /Link /A << /S /URI /URI (${uri}) >>`
    const page = onePage(english, [
      link('https://a.example/x?y=1'),
      link('mailto:ann@a.example'),
      link('https://a.example/x?y=1'),
      '/Subtype /Link /Dest [3 0 R /Fit]',
    ])
    expect(await textOf(page)).toBe(
      '[Page 1 of 1]\nName:\nLink: https://a.example/x?y=1\nLink: mailto:ann@a.example',
    )
  })

  it('says where text is missing because its font needs a character map', async () => {
    const reason = 'Its fonts need character maps that are not available: 90ms-RKSJ-H.'
    expect(await textOf(onePage(english + japanese))).toBe(
      `[Page 1 of 1]\nName:\n[Text is missing here. ${reason}]`,
    )
    await expect(textOf(onePage(japanese))).rejects.toMatchObject({
      code: 'asset_unsupported',
      message: `The text of x.pdf cannot be read. ${reason}`,
    })
  })
})
