import { isJsonObject } from '../json-object.js';

const PATH_FORM = /^[\w.[\]]{1,200}$/;

/**
 * The path in the format of our errors (`messages.0.content` for `messages[0].content`), if the body has that field;
 * undefined if not.
 */
export function findBodyField(body: unknown, path: string): string | undefined {
  if (!PATH_FORM.test(path)) return undefined;
  const names = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  let value: unknown = body;
  for (const name of names) {
    if (Array.isArray(value)) value = value[Number(name)] as unknown;
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value === undefined ? undefined : names.join('.');
}
