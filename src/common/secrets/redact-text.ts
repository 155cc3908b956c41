/** Text in the format of our keys, anywhere. */
const KEY_SHAPE = /sk-[0-9A-Za-z_-]{16,}/g;
/** Credentials in a URL, with or without a user; the password may contain an `@`. */
const URL_CREDENTIALS = /:\/\/[^\s/]+@/g;

/** The signature of a link to a file, which gives access without a key. */
const LINK_SIGNATURE = /([?&]signature=)[0-9a-f]{16,}/gi;

/** Removes keys and the signatures of links from a text. */
export function redactKeys(text: string): string {
  return text.replace(KEY_SHAPE, 'sk-[redacted]').replace(LINK_SIGNATURE, '$1[redacted]');
}

/** Removes keys, the signatures of links and URL credentials from free text, such as the message of an unexpected error. */
export function redactText(text: string): string {
  return redactKeys(text).replace(URL_CREDENTIALS, '://[redacted]@');
}
