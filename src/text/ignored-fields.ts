import { GatewayError } from '../common/errors/gateway-error.js';
import type { JsonObject } from '../common/json-object.js';

/** Most characters of all names of ignored fields. */
const MAX_CHARS = 1_000;
/** Only such a name or path can be put in a header; any other field is left out without being listed. */
const NAME = /^[\w$.:-]{1,128}$/;
const SEPARATOR = ', ';

/** The names of the fields of a request that are left out. */
export class IgnoredFields {
  private readonly found = new Set<string>();
  private chars = 0;

  get names(): readonly string[] {
    return [...this.found];
  }

  /** Notes a name or a path. */
  add(path: string): void {
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
}

/** Refuses a field that would be left out, for a caller who wants that (decision G-107). */
export function unknownField(path: string): GatewayError {
  const [param = path] = path.split(':');
  return new GatewayError('invalid_request', `${param} is not known here.`, { param });
}
