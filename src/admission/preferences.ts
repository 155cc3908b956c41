import { ApiHeader } from '@nestjs/swagger';

/** The preference for a task in place of the answer of a call. */
export const RESPOND_ASYNC = 'respond-async';

/** OpenAPI: the header with the preferences of a call; `others` tells those beside `keep`. */
export const PreferHeader = (others = ''): MethodDecorator =>
  ApiHeader({
    name: 'Prefer',
    required: false,
    description: `\`keep\`: \`GET /v1/executions/{id}/content\` gives the answer again for 24 hours${others}`,
    schema: { type: 'string' },
  });

/** Whether a header `Prefer` has the preference, alone or in a list of preferences. */
export function prefers(prefer: string | string[] | undefined, wanted: string): boolean {
  if (prefer === undefined) return false;
  const list = typeof prefer === 'string' ? prefer : prefer.join(',');
  return withoutQuoted(list)
    .split(',')
    .some((preference) => {
      const [name = ''] = preference.split(';');
      return name.trim().toLowerCase() === wanted;
    });
}

/** A quoted value may have commas, which separate nothing. */
function withoutQuoted(list: string): string {
  return list.includes('"')
    ? list
        .replaceAll(/\\./g, '')
        .split('"')
        .filter((_, index) => index % 2 === 0)
        .join('')
    : list;
}
