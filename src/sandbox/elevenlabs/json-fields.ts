import { WireAnswer } from '../http/protocol.js';

interface Complaint {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/**
 * Reads a JSON object the way the vendor's validation does: every complaint is collected, and `finish` answers
 * 422 with the whole list. Getters return a harmless value for a bad field so that reading can go on.
 */
export class JsonFields {
  private constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    private readonly path: readonly (string | number)[],
    private readonly complaints: Complaint[],
  ) {}

  /** Fields of a request body; 422 when it is no JSON object. */
  static ofBody(body: Buffer): JsonFields {
    const complaints: Complaint[] = [];
    const root = new JsonFields(asObject(parse(body)) ?? {}, ['body'], complaints);
    if (asObject(parse(body)) === undefined) {
      root.complain([], 'json_invalid', 'JSON decode error');
      root.finish();
    }
    return root;
  }

  /** Answers 422 if anything was wrong. */
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
    const value = this.given(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') {
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
    this.complain([name], 'bool_parsing', 'Input should be a valid boolean');
    return undefined;
  }

  /** A nested object; an empty one when the field is absent. */
  object(name: string): JsonFields {
    const value = this.given(name);
    const fields = asObject(value);
    if (value !== undefined && fields === undefined) {
      this.complain([name], 'dict_type', 'Input should be a valid dictionary');
    }
    return new JsonFields(fields ?? {}, [...this.path, name], this.complaints);
  }

  /** A required list of objects. */
  list(name: string): JsonFields[] {
    const value = this.given(name);
    if (!Array.isArray(value)) {
      this.complain([name], value === undefined ? 'missing' : 'list_type', 'A list is required');
      return [];
    }
    return value.map((item: unknown, index) => {
      const fields = asObject(item);
      if (fields === undefined) this.complain([name, index], 'dict_type', 'Not a dictionary');
      return new JsonFields(fields ?? {}, [...this.path, name, index], this.complaints);
    });
  }

  private given(name: string): unknown {
    return this.values[name] ?? undefined;
  }

  private complain(where: readonly (string | number)[], type: string, msg: string): void {
    this.complaints.push({ type, loc: [...this.path, ...where], msg });
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}
