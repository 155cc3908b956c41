import { isJsonObject } from '../json-object.js';

const PATH_FORM = /^[\w.[\]]{1,200}$/;

/**
 * The path as our errors write it (`messages.0.content` for `messages[0].content`), where the body holds that field;
 * undefined where it does not.
 */
export function sentField(body: unknown, path: string): string | undefined {
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
