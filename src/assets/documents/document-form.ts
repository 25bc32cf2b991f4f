import { essenceOf } from '../bodies/mime-type.ts'

/** The formats of documents whose text byref reads. */
export type DocumentForm = 'pdf' | 'docx' | 'xlsx'

const OFFICE = 'application/vnd.openxmlformats-officedocument'

const FORMS: Readonly<Record<string, DocumentForm>> = {
  'application/pdf': 'pdf',
  [`${OFFICE}.wordprocessingml.document`]: 'docx',
  [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
}

/** Returns the document format of this type, or null for any other type. */
export function documentForm(mime: string): DocumentForm | null {
  return FORMS[essenceOf(mime)] ?? null
}
