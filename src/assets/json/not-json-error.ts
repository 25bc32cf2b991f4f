/** That a text is no JSON, although it is called so. */
export class NotJsonError extends Error {}
