/** Text in the format of our keys, anywhere. */
const KEY_SHAPE = /sk-[0-9A-Za-z_-]{16,}/g;
/** Credentials in a URL, with or without a user; the password may contain an `@`. */
const URL_CREDENTIALS = /:\/\/[^\s/]+@/g;

/** Removes keys from a text. */
export function redactKeys(text: string): string {
  return text.replace(KEY_SHAPE, 'sk-[redacted]');
}

/** Removes keys and URL credentials from free text, such as the message of an unexpected error. */
export function redactText(text: string): string {
  return redactKeys(text).replace(URL_CREDENTIALS, '://[redacted]@');
}
