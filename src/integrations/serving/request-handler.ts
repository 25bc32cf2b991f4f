/** Answers web requests: a function, which `fetch` names too, so that it fits where a server takes either. */
export interface RequestHandler {
  (request: Request): Promise<Response>
  fetch(request: Request): Promise<Response>
}

export function requestHandler(serve: (request: Request) => Promise<Response>): RequestHandler {
  return Object.assign((request: Request) => serve(request), { fetch: serve })
}
