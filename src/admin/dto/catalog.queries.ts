import { PageQuery } from '../../common/paging/page.query.js';
import { ModelId } from '../../common/validation/fields.js';

/** Query of GET /admin/catalog/changes. */
export class CatalogChangesQuery extends PageQuery {
  @ModelId({ optional: true, description: 'Changes of one model' })
  model?: string;
}
