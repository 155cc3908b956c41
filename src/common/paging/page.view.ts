import type { Type } from '@nestjs/common';
import { ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import type { Page } from './page.js';

/** The header for `next_cursor` of a page whose format has no such field; absent on the last page. */
export const NEXT_CURSOR_HEADER = 'x-gateway-next-cursor';

/** A page of a list as clients see it. */
export interface PageView<View> {
  readonly object: 'list';
  readonly data: View[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** The page, each item shown by `view`. */
export function viewPage<Item, View>(page: Page<Item>, view: (item: Item) => View): PageView<View> {
  return {
    object: 'list',
    data: page.items.map(view),
    has_more: page.nextCursor !== null,
    next_cursor: page.nextCursor,
  };
}

/** The class that documents a page of these items: `class AccountPage extends pageOfViews(AccountView) {}`. */
export function pageOfViews<View>(item: Type<View>): Type<PageView<View>> {
  class ListView implements PageView<View> {
    @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
    object!: 'list';

    @ApiProperty({
      type: [item],
      description: 'The items of this page, newest first unless the operation says otherwise',
    })
    data!: View[];

    @ApiProperty({ description: 'Whether another page follows' })
    has_more!: boolean;

    @ApiProperty({ nullable: true, type: String, description: '`cursor` of the next page' })
    next_cursor!: string | null;
  }
  return ListView;
}

/**
 * OpenAPI: a page, or CSV with its cursor in a header. CSV is named beside the content types, because a generated client would
 * give the operation a response that is either, so that no field of the page could be read.
 */
export function PageOrCsv(page: Type): MethodDecorator {
  const response = {
    type: page,
    headers: {
      [NEXT_CURSOR_HEADER]: {
        description: 'Of CSV: `next_cursor`; absent on the last page',
        schema: { type: 'string' },
      },
    },
    'x-other-types': ['text/csv'],
  };
  return ApiOkResponse(response);
}
