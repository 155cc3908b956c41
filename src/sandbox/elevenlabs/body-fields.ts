import { asRecord, parseJson } from '../http/json.js';
import { WireAnswer, WireFault } from '../http/protocol.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { readForm } from '../http/request-body.js';
import { type HeardAudio, hearAudio } from '../media/audio-files/heard-audio.js';

interface Complaint {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/**
 * Reads a JSON object or a form as the vendor's validation does: it collects every complaint, and `finish` answers 422
 * with all of them. For a bad field a getter returns a harmless value, so that reading can go on.
 */
export class BodyFields {
  private constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    private readonly path: readonly (string | number)[],
    private readonly complaints: Complaint[],
    /** Fields of forms are text, so numbers, flags and nested JSON are parsed from text. */
    private readonly isForm = false,
  ) {}

  /** Fields of a JSON request body. 422 when the body is no JSON object. */
  static ofBody(body: Buffer): BodyFields {
    const values = asRecord(parseJson(body));
    const root = new BodyFields(values ?? {}, ['body'], []);
    if (values === undefined) root.complain([], 'json_invalid', 'JSON decode error');
    if (values === undefined) root.finish();
    return root;
  }

  /** Text fields of a multipart form. */
  static ofForm(fields: ReadonlyMap<string, string>): BodyFields {
    return new BodyFields(Object.fromEntries(fields), ['body'], [], true);
  }

  /** Answers 422 if there was any complaint. */
  finish(): void {
    if (this.complaints.length > 0) throw new WireAnswer(422, { detail: this.complaints });
  }

  requiredText(name: string): string {
    if (this.values[name] === undefined) this.complain([name], 'missing', 'Field required');
    return this.text(name) ?? '';
  }

  text(name: string): string | undefined {
    const value = this.given(name);
    if (value === undefined || typeof value === 'string') return value;
    this.complain([name], 'string_type', 'Input should be a valid string');
    return undefined;
  }

  oneOf(name: string, allowed: readonly string[]): string | undefined {
    const value = this.text(name);
    if (value === undefined || allowed.includes(value)) return value;
    const choices = allowed.map((word) => `'${word}'`).join(', ');
    this.complain([name], 'enum', `Input should be ${choices}`);
    return undefined;
  }

  number(name: string, min: number, max: number): number | undefined {
    const given = this.given(name);
    if (given === undefined) return undefined;
    const value = this.isForm && typeof given === 'string' ? Number(given) : given;
    if (typeof value !== 'number' || Number.isNaN(value)) {
      this.complain([name], 'float_type', 'Input should be a valid number');
      return undefined;
    }
    if (value >= min && value <= max) return value;
    const isLow = value < min;
    this.complain(
      [name],
      isLow ? 'greater_than_equal' : 'less_than_equal',
      `Input should be ${isLow ? 'greater' : 'less'} than or equal to ${isLow ? min : max}`,
    );
    return undefined;
  }

  whole(name: string, min: number, max: number): number | undefined {
    const value = this.number(name, min, max);
    if (value === undefined || Number.isInteger(value)) return value;
    this.complain([name], 'int_from_float', 'Input should be a valid integer');
    return undefined;
  }

  flag(name: string): boolean | undefined {
    const value = this.given(name);
    if (value === undefined || typeof value === 'boolean') return value;
    if (this.isForm && (value === 'true' || value === 'false')) return value === 'true';
    this.complain([name], 'bool_parsing', 'Input should be a valid boolean');
    return undefined;
  }

  /** A nested object; an empty one when the field is absent. */
  object(name: string): BodyFields {
    const value = this.nested(name);
    const fields = asRecord(value);
    if (value !== undefined && fields === undefined) {
      this.complain([name], 'dict_type', 'Input should be a valid dictionary');
    }
    return new BodyFields(fields ?? {}, [...this.path, name], this.complaints);
  }

  /** A list of objects; an empty one when the field is absent and not required. */
  list(name: string, isRequired: boolean): BodyFields[] {
    const value = this.nested(name);
    if (value === undefined && !isRequired) return [];
    if (!Array.isArray(value)) {
      this.complain([name], value === undefined ? 'missing' : 'list_type', 'A list is required');
      return [];
    }
    return value.map((item: unknown, index) => {
      const fields = asRecord(item);
      if (fields === undefined) this.complain([name, index], 'dict_type', 'Not a dictionary');
      return new BodyFields(fields ?? {}, [...this.path, name, index], this.complaints);
    });
  }

  private given(name: string): unknown {
    return this.values[name] ?? undefined;
  }

  private nested(name: string): unknown {
    const value = this.given(name);
    return this.isForm && typeof value === 'string' ? (parseJson(value) ?? null) : value;
  }

  private complain(where: readonly (string | number)[], type: string, msg: string): void {
    this.complaints.push({ type, loc: [...this.path, ...where], msg });
  }
}

/** A multipart request with one recording. */
export interface UploadedAudio {
  readonly file: Buffer;
  readonly heard: HeardAudio;
  readonly fields: BodyFields;
}

/**
 * Reads the recording in form field `name`; 422 when it is missing, 400 `invalid_audio` when its length cannot be read.
 */
export async function uploadedAudio(
  exchange: SandboxExchange,
  name: string,
): Promise<UploadedAudio> {
  const form = await readForm(exchange.body, exchange.header('content-type'));
  const file = form?.files.get(name);
  if (form === undefined || file === undefined) {
    throw new WireAnswer(422, {
      detail: [{ type: 'missing', loc: ['body', name], msg: 'Field required' }],
    });
  }
  const heard = await hearAudio(file);
  if (heard !== undefined) return { file, heard, fields: BodyFields.ofForm(form.fields) };
  refuseAudio('invalid_audio', 'The audio file could not be read.');
}

/** Refuses a request as the vendor does: 400 with its word for the error. */
export function refuseAudio(code: string, message: string): never {
  throw new WireFault({ status: 400, code, message });
}
