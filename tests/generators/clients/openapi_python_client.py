"""Uploads a template, exports a Word file and creates a webhook with the client that openapi-python-client generates."""

import base64
import json
import os
from io import BytesIO
from pathlib import Path
from uuid import UUID

from generated import AuthenticatedClient
from generated.api.export_and_templates import create_template, export_word
from generated.api.webhooks import create_webhook
from generated.models import CreateTemplate, CreateWebhook, EventType, NewWebhook, Template
from generated.types import File

client = AuthenticatedClient(base_url=os.environ["BASE"], token=os.environ["KEY"])

content = Path(os.environ["TEMPLATE"]).read_bytes()
file = File(payload=BytesIO(content), file_name="template.docx")
template = create_template.sync(
    client=client, body=CreateTemplate(name="openapi-python-client", indent_inches=0.75, file=file)
)
assert isinstance(template, Template), template

word = export_word.sync(UUID(os.environ["DOC_ID"]), client=client, template_id=str(template.id))
assert isinstance(word, File), word

webhook = create_webhook.sync(
    client=client,
    body=CreateWebhook(
        name="openapi-python-client", url=os.environ["HOOK_URL"], event_types=[EventType.DOCUMENT_PUBLISHED]
    ),
)
assert isinstance(webhook, NewWebhook), webhook

print(
    json.dumps(
        {
            "template": template.to_dict(),
            "word": base64.b64encode(word.payload.read()).decode(),
            "webhook": str(webhook.id),
            "secret": webhook.secret,
        }
    )
)
