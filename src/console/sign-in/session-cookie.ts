import type { Request, Response } from 'express';
import { SESSION_MS } from '../../auth/sessions/console-session.js';
import { ATTEMPT_MS } from './sign-in-attempt.js';
import type { PageOrigin } from './page-origin.js';

/** A browser takes a cookie of this name only over HTTPS, for one host and all its paths. */
const SECURE_NAME = '__Host-shim';
/** On plain HTTP of the machine itself. */
const LOCAL_NAME = 'shim';

/** What follows the name of the session's cookie in that of a way to the identity provider. */
const ATTEMPT = '-oidc';

const nameOf = ({ isHttps }: PageOrigin): string => (isHttps ? SECURE_NAME : LOCAL_NAME);

/**
 * The value of a cookie of a request. Undefined without one, and where it was sent twice with different values: then one of
 * them is not ours.
 */
export function cookieOf({ headers }: Pick<Request, 'headers'>, name: string): string | undefined {
  const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  const [value] = values;
  return values.every((other) => other === value) ? value : undefined;
}

/** The secret of the session that a browser has. */
export const sessionSecretOf = (request: Request, page: PageOrigin): string | undefined =>
  cookieOf(request, nameOf(page));

/** The page sends it with what it asks while nobody touches it. Such a request is no use, so it never lengthens a session. */
const POLL_HEADER = 'x-console-poll';

/** Whether the page asks by itself. */
export const isPollOfPage = ({ headers }: Pick<Request, 'headers'>): boolean =>
  headers[POLL_HEADER] !== undefined;

/** Gives the browser the secret. Scripts cannot read it, and no other site can make the browser send it. */
export function setSessionCookie(response: Response, page: PageOrigin, secret: string): void {
  setCookie(response, page, {
    name: nameOf(page),
    value: secret,
    maxAgeMs: SESSION_MS,
    sameSite: 'Strict',
  });
}

/** Makes the browser forget it. */
export function clearSessionCookie(response: Response, page: PageOrigin): void {
  setCookie(response, page, { name: nameOf(page), value: '', maxAgeMs: 0, sameSite: 'Strict' });
}

/** What a browser keeps while it is at the identity provider. */
export const attemptOf = (request: Request, page: PageOrigin): string | undefined =>
  cookieOf(request, nameOf(page) + ATTEMPT);

/** Gives it to the browser, which sends it also where the other site leads it back. */
export function setAttemptCookie(response: Response, page: PageOrigin, value: string): void {
  const name = nameOf(page) + ATTEMPT;
  setCookie(response, page, { name, value, maxAgeMs: ATTEMPT_MS, sameSite: 'Lax' });
}

/** Makes the browser forget it. */
export function clearAttemptCookie(response: Response, page: PageOrigin): void {
  const name = nameOf(page) + ATTEMPT;
  setCookie(response, page, { name, value: '', maxAgeMs: 0, sameSite: 'Lax' });
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly maxAgeMs: number;
  readonly sameSite: 'Strict' | 'Lax';
}

function setCookie(response: Response, { isHttps }: PageOrigin, cookie: Cookie): void {
  const { name, value, maxAgeMs, sameSite } = cookie;
  const attributes = [`Max-Age=${maxAgeMs / 1_000}`, 'Path=/', 'HttpOnly', `SameSite=${sameSite}`];
  if (isHttps) attributes.push('Secure');
  response.append('Set-Cookie', [`${name}=${value}`, ...attributes].join('; '));
}
