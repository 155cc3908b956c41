import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';

/** Most characters of all names of ignored fields. */
const MAX_CHARS = 1_000;
/** Most characters of a name in an error. */
const MAX_NAME_CHARS = 128;
/** Only such a name or path can be put in a header; any other field is left out without being listed. */
const NAME = /^[\w$.:-]{1,128}$/;
const SEPARATOR = ', ';

/** The names of the fields of a request that are left out. */
export class IgnoredFields {
  private readonly found = new Set<string>();
  private chars = 0;
  /** Whether or not it can be listed. */
  private first: string | undefined;

  get names(): readonly string[] {
    return [...this.found];
  }

  /** Notes a name or a path. */
  add(path: string): void {
    this.first ??= path;
    const chars = this.chars + path.length + SEPARATOR.length;
    if (chars > MAX_CHARS || !NAME.test(path) || this.found.has(path)) return;
    this.found.add(path);
    this.chars = chars;
  }

  /** Notes the fields of the object that are not among the known ones. */
  among(object: JsonObject, known: readonly string[], path: string): void {
    for (const name in object) {
      if (!known.includes(name)) this.add(`${path}.${name}`);
    }
  }

  /** The object without its unknown fields, which are noted; itself where all are known. */
  without(object: JsonObject, known: readonly string[], path: string): JsonObject {
    const unknown = Object.keys(object).filter((name) => !known.includes(name));
    if (unknown.length === 0) return object;
    for (const name of unknown) this.add(`${path}.${name}`);
    return Object.fromEntries(Object.entries(object).filter(([name]) => known.includes(name)));
  }

  /** Throws 400 naming the first field for a caller who wants none to be left out (decision G-107). */
  refuseWhere(isStrict: boolean): void {
    if (!isStrict || this.first === undefined) return;
    const [name = ''] = this.first.split(':');
    const param = name.slice(0, MAX_NAME_CHARS);
    throw new GatewayError('invalid_request', `${param} is not known here.`, { param });
  }
}
