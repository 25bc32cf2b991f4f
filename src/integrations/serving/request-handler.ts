/** Answers web requests. It is a function with a `fetch` property, so it fits servers that take either. */
export interface RequestHandler {
  (request: Request): Promise<Response>
  fetch(request: Request): Promise<Response>
}

export function requestHandler(serve: (request: Request) => Promise<Response>): RequestHandler {
  return Object.assign((request: Request) => serve(request), { fetch: serve })
}
