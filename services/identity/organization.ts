/** The organization: its name, its slug, its settings. */
import { InvalidRequest, Unauthenticated } from '#libs/contract';
import { handle } from '#libs/http';
import { getOrganization, updateOrganization } from './contract.ts';
import { toOrganization } from './presenters.ts';
import { isReserved } from './rules/slug.ts';
import type { OrganizationRows } from './store/organizations.ts';

/** The operations on the organization of who asks. */
export function organization({ organizations }: { organizations: OrganizationRows }) {
  return [
    handle(getOrganization, async ({ actor }) => {
      const row = await organizations.get(actor);
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),

    handle(updateOrganization, async ({ actor, body, call }) => {
      const { settings = {}, ...fields } = body;
      call.audit({
        changed: [...Object.keys(fields), ...Object.keys(settings).map((key) => `settings.${key}`)],
      });
      if (body.slug !== undefined && isReserved(body.slug)) throw reserved('body/slug');
      const row = await organizations.change(actor, body);
      if (!row) throw Unauthenticated();
      return toOrganization(row);
    }),
  ];
}

function reserved(path: string) {
  return InvalidRequest(undefined, { extra: { errors: [{ path, message: 'This slug is reserved' }] } });
}
