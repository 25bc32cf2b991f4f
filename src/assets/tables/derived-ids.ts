/** The ids of what is made of a file, by the file's. */
export function derivedIds(file: string) {
  return {
    table: `${file}-table`,
    sheet: (number: number) => `${file}-${number}`,
    workbook: `${file}-workbook`,
  }
}
