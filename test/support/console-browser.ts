import { type Answer, send } from './http-answer.js';

/** What a browser says of a request of the page itself. */
export const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

type Headers = Readonly<Record<string, string>>;

/** A browser at the page of a gateway: it keeps the cookies and says where its requests come from. */
export class ConsoleBrowser {
  readonly cookies = new Map<string, string>();

  constructor(
    readonly url: string,
    /** Sent with each request, in place of {@link OWN_PAGE}. */
    private readonly usual: Headers = OWN_PAGE,
  ) {}

  /** A request below `/console`; without a body none is sent. */
  async ask(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const answer = await send(`${this.url}/console${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...this.usual,
        ...(this.cookies.size > 0 && { cookie: this.cookieHeader }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) this.keep(line);
    return answer;
  }

  get(path: string, headers?: Headers): Promise<Answer> {
    return this.ask('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers?: Headers): Promise<Answer> {
    return this.ask('POST', path, body, headers);
  }

  signIn(body: object, headers?: Headers): Promise<Answer> {
    return this.post('/session', body, headers);
  }

  signOut(): Promise<Answer> {
    return this.ask('DELETE', '/session');
  }

  get cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const [name = '', value = ''] = pair.split('=', 2);
    if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
