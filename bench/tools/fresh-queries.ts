/**
 * Requests for tools of the fresh servers, and all tools that do them. There is one for every fifth of the 1,000 tools
 * of `freshTools()`, and every second one names the service. They were written without a look at the index, before it
 * ever searched these tools. Do not tune the index with them: `queries.ts` and `development-queries.ts` are for that.
 *
 * A tool for all kinds of records of a service counts. A tool that runs code or calls any address of an API does not.
 * A tool that takes SQL counts where a plain SELECT of a table gives the answer.
 */
export const freshQueries: readonly { request: string; tools: readonly string[] }[] = [
  {
    request: 'Are my media managers for shows, films and music all hooked up and running?',
    tools: ['arr_arr_status'],
  },
  {
    request: 'What quality profiles do I have in Radarr?',
    tools: ['arr_radarr_get_quality_profiles', 'arr_radarr_review_setup'],
  },
  {
    request:
      'Which download client is my music collection set up to use? I think Tom changed it last week.',
    tools: ['arr_lidarr_get_download_clients'],
  },
  {
    request: 'have sonarr look for episode 5 of Severance season 2 again',
    tools: ['arr_sonarr_search_episode'],
  },
  {
    request: 'look for better copies of these 12 films, all in one go',
    tools: ['arr_radarr_search_movies'],
  },
  {
    request: 'I want to add Radiohead to Lidarr, which qualities can I choose from?',
    tools: ['arr_lidarr_get_quality_profiles'],
  },
  {
    request: 'How should I name my video files so that Plex picks them up properly?',
    tools: ['arr_trash_get_naming'],
  },
  {
    request: 'change the website of Acme Corp in Attio to acme.io',
    tools: ['attio_update_company', 'attio_update_record', 'attio_batch_records'],
  },
  {
    request: 'Which fields does a company have in our CRM?',
    tools: ['attio_get_record_attributes', 'salesforce_salesforce_describe_object'],
  },
  {
    request: 'Find all deals in Attio that Maria owns and that are in the negotiation stage',
    tools: ['attio_search_records_advanced', 'attio_search_records', 'attio_batch_records'],
  },
  { request: 'show me the sales pipelines that we have', tools: ['attio_get-lists'] },
  {
    request: 'put Globex into the Enterprise Prospects list in Attio',
    tools: ['attio_add-record-to-list', 'attio_manage-list-entry'],
  },
  {
    request:
      'In the CRM, our list is still called "Q3 Leads". Rename it to "Q4 Leads" and adapt its description.',
    tools: ['attio_update-list-configuration', 'attio_update_record'],
  },
  { request: "what's my Netflix password in Bitwarden?", tools: ['bitwarden_get'] },
  {
    request: 'Rename the collection of passwords that the marketing team shares to "Growth"',
    tools: ['bitwarden_edit_org_collection'],
  },
  {
    request:
      'Use Bitwarden to pass the wifi code to a guest, as a note that is gone after tomorrow',
    tools: ['bitwarden_create_text_send'],
  },
  {
    request:
      'The finance group should be able to use the shared passwords in the collection "Banking" as well',
    tools: ['bitwarden_update_org_collection', 'bitwarden_edit_org_collection'],
  },
  {
    request: 'Lena never got her Bitwarden invitation, can you send it again?',
    tools: ['bitwarden_reinvite_org_member'],
  },
  {
    request:
      'In our password manager, the Developers group should be Jonas, Priya and Mei from now on',
    tools: ['bitwarden_update_org_group_members'],
  },
  {
    request: 'Which stocks do I hold at Interactive Brokers right now?',
    tools: ['brokers_get_positions'],
  },
  {
    request: 'Did my order 88123 for the Nvidia shares get filled yet?',
    tools: ['brokers_get_order_status', 'brokers_get_live_orders'],
  },
  {
    request: 'turn my Apple price alert at Interactive Brokers back on',
    tools: ['brokers_activate_alert'],
  },
  { request: "What time is it in Tokyo when it's 3 pm in Berlin?", tools: ['calc_datetime'] },
  { request: 'calc: write 48879 in hexadecimal', tools: ['calc_base'] },
  { request: 'is 10.4.17.9 inside of 10.4.16.0/22?', tools: ['calc_ip'] },
  { request: 'use calc to tell me whether version 2.3.1 fits ^2.1.0', tools: ['calc_semver'] },
  {
    request:
      'How many requests and how much bandwidth did our zone shop.example.com have over the last 7 days?',
    tools: ['cloudflare_analytics_get'],
  },
  {
    request: 'delete the chat-rooms namespace of Durable Objects in Cloudflare',
    tools: ['cloudflare_do_delete_namespace'],
  },
  {
    request: 'put these 50 messages on the email-jobs queue in one call',
    tools: ['cloudflare_queue_send_batch'],
  },
  {
    request: 'Which starter templates are there for Cloudflare Workers?',
    tools: ['cloudflare_template_list'],
  },
  {
    request: 'remove the environment variable DEBUG_MODE from my worker script',
    tools: ['cloudflare_env_var_delete'],
  },
  {
    request: 'Under which domains of our own can people reach our Cloudflare Workers?',
    tools: ['cloudflare_domain_list'],
  },
  {
    request:
      'A colleague sent me this image generation workflow as JSON, 40 nodes. Can you draw a picture of how they are connected?',
    tools: ['comfyui_visualize_workflow'],
  },
  {
    request: 'Why did my last ComfyUI render fail?',
    tools: ['comfyui_get_history', 'comfyui_get_system_stats'],
  },
  {
    request:
      "I'd like to use portrait.png from my desktop as the input image of the workflow, put it where the image generator finds it",
    tools: ['comfyui_upload_image'],
  },
  {
    request: 'I found a bug in the ComfyUI MCP server. Where do I report it?',
    tools: ['comfyui_report_issue'],
  },
  {
    request:
      'Set up the image generator from this manifest.yaml: custom nodes, models and pip packages',
    tools: ['comfyui_apply_manifest'],
  },
  {
    request: 'Run the same ComfyUI workflow with 20 different cfg values overnight',
    tools: ['comfyui_batch'],
  },
  {
    request: 'what is in the entry 5KsDBWseXY6QegucYAoacS of our CMS?',
    tools: ['contentful_get_entry', 'contentful_search_entries'],
  },
  { request: 'What images and files do we have in Contentful?', tools: ['contentful_list_assets'] },
  {
    request: 'The new hero image is uploaded to the CMS, but not live yet. Make it live.',
    tools: ['contentful_publish_asset'],
  },
  {
    request:
      "I've added the last field to the content type Recipe in Contentful, please publish it",
    tools: ['contentful_publish_content_type'],
  },
  {
    request:
      'change the instruction of our AI action "Translate to German" so that it uses the formal Sie',
    tools: ['contentful_update_ai_action'],
  },
  {
    request: 'Is the Contentful AI action from this morning done, and what did it write?',
    tools: ['contentful_get_ai_action_invocation'],
  },
  {
    request: 'Which deployment of our storefront is active on the app platform, and is it healthy?',
    tools: ['digitalocean_apps-get-deployment-status'],
  },
  {
    request: 'upgrade our DigitalOcean Postgres cluster to version 17',
    tools: ['digitalocean_db-cluster-upgrade-major-version'],
  },
  {
    request: 'Add an A record for blog.mysite.dev that points to 203.0.113.10',
    tools: ['digitalocean_domain-record-create'],
  },
  {
    request:
      'How large is the custom model that we put on DigitalOcean, and what would it cost to run?',
    tools: ['digitalocean_genai-custom-models-get'],
  },
  {
    request: 'rename the "angry customer" set of simulation scenarios to "complaints"',
    tools: ['digitalocean_genai-simulation-update-scenario-set'],
  },
  {
    request: 'In which DigitalOcean regions can I get the small droplets?',
    tools: ['digitalocean_region-list'],
  },
  {
    request: 'work with the forum at https://meta.example.org from now on',
    tools: ['discourse_discourse_select_site'],
  },
  {
    request: 'What did codinghorror write in Discourse topic 4711?',
    tools: [
      'discourse_discourse_read_topic_posts',
      'discourse_discourse_read_topic',
      'discourse_discourse_search_posts',
    ],
  },
  {
    request: 'What did people write yesterday in the staff chat of our forum?',
    tools: ['discourse_discourse_get_chat_messages'],
  },
  {
    request: 'Read me the Discourse private message 9031, the one from Anna',
    tools: ['discourse_discourse_read_private_message'],
  },
  {
    request:
      "We're opening a vegan bakery in Leipzig in May. Come up with some catchy web addresses that are still free!",
    tools: ['domains_suggest_domains_smart', 'domains_suggest_domains'],
  },
  {
    request: 'with the domain search: which .io domains run out in the next 30 days?',
    tools: ['domains_expiring_domains'],
  },
  {
    request: "I don't need the old payment policy for my listings any more, get rid of it",
    tools: ['ebay_ebay_delete_payment_policy'],
  },
  {
    request: 'At which of my warehouses is the SKU TSHIRT-M of that eBay listing?',
    tools: ['ebay_ebay_get_sku_location_mapping'],
  },
  { request: 'Which ad campaigns do I have for my listings?', tools: ['ebay_ebay_get_campaigns'] },
  {
    request: 'which sales and discounts do I have going on eBay at the moment?',
    tools: ['ebay_ebay_get_promotions'],
  },
  {
    request:
      'Whenever a buyer closes his marketplace account, our server should be told. Subscribe it to that topic.',
    tools: ['ebay_ebay_create_notification_subscription'],
  },
  {
    request: 'I need the shipping label for eBay bundle 2291',
    tools: ['ebay_ebay_get_bundle_label'],
  },
  {
    request: 'which of our machines have maintenance planned?',
    tools: ['erpnext_erpnext_asset_maintenance_list', 'erpnext_erpnext_doc_list'],
  },
  {
    request: 'Show me all records of the DocType Vehicle in ERPNext',
    tools: ['erpnext_erpnext_doc_list'],
  },
  {
    request: 'Show the tasks of the project "Website relaunch" as a board with a column per status',
    tools: ['erpnext_erpnext_kanban_get_board'],
  },
  {
    request: 'which payments came in from customers in October according to ERPNext?',
    tools: ['erpnext_erpnext_payment_entry_list', 'erpnext_erpnext_doc_list'],
  },
  {
    request: 'Who are our ten best customers by revenue? A bar chart, please.',
    tools: ['erpnext_erpnext_sales_chart'],
  },
  {
    request:
      'ERPNext: draw me where the money in our stock sits, the more an item is worth the bigger',
    tools: ['erpnext_erpnext_stock_treemap'],
  },
  {
    request: 'make the box "Database" in my drawing red and a bit wider',
    tools: ['excalidraw_update_element'],
  },
  {
    request: 'line up the three boxes on the left in Excalidraw',
    tools: ['excalidraw_align_elements'],
  },
  {
    request:
      'Sketch how an order goes: four boxes, order, payment, packing and shipping, with arrows between them',
    tools: [
      'excalidraw_batch_create_elements',
      'excalidraw_create_element',
      'excalidraw_create_from_mermaid',
    ],
  },
  { request: 'save what I drew in Excalidraw as a PNG', tools: ['excalidraw_export_to_image'] },
  {
    request: 'What should I keep in mind to draw nice diagrams: colours, sizes, spacing?',
    tools: ['excalidraw_read_diagram_guide'],
  },
  {
    request: 'In Godot, move the Player node under the World node',
    tools: ['godot_godot_node_edit'],
  },
  {
    request: 'add a keyframe at 0.5 seconds to the walk animation of my character',
    tools: ['godot_godot_animation_edit'],
  },
  {
    request: 'How big is the house in my Godot scene, with all its parts?',
    tools: ['godot_godot_scene3d'],
  },
  {
    request: "Pause the game that's running and let it go on for just ten frames",
    tools: ['godot_godot_game_time'],
  },
  {
    request: 'Which workouts in Hevy were changed or deleted since Sunday?',
    tools: ['hevy_get-workout-events'],
  },
  {
    request: 'what exercises and how many sets are in my push day routine?',
    tools: ['hevy_get-routine'],
  },
  {
    request: 'Does Hevy have an exercise called Bulgarian split squat?',
    tools: ['hevy_search-exercise-templates'],
  },
  {
    request: 'Note my numbers for this morning: 81.4 kg, 17 % body fat, waist 88 cm',
    tools: ['hevy_create-body-measurement'],
  },
  {
    request: 'Find us a hotel in Lisbon on Booking.com, two people, 3 to 6 May',
    tools: ['hotels_search_hotels', 'hotels_find_hotels'],
  },
  {
    request: 'which of our email campaigns are running?',
    tools: ['iterable_get_campaigns', 'resend_list-broadcasts'],
  },
  {
    request: 'Look up the item mocha-250g in the products catalog in Iterable',
    tools: ['iterable_get_catalog_item'],
  },
  {
    request: 'What has customer 50123 done so far, opens, clicks, purchases and so on?',
    tools: ['iterable_get_user_events_by_user_id'],
  },
  {
    request: 'How many people are on our newsletter list in Iterable?',
    tools: ['iterable_get_list_size'],
  },
  {
    request: 'Which reusable snippets do we have for our marketing messages?',
    tools: ['iterable_get_snippets'],
  },
  {
    request: 'show me how the welcome mail in Iterable would look for a customer named Sofia',
    tools: ['iterable_preview_email_template'],
  },
  {
    request:
      'Which marketing messages did kate@example.com get from us in September? She complained to Ben.',
    tools: ['iterable_get_sent_messages'],
  },
  {
    request: 'save https://example.com/rust-book in Karakeep',
    tools: ['karakeep_create-bookmark'],
  },
  {
    request: 'Which passages did I highlight in the article about sleep that I saved?',
    tools: ['karakeep_get-bookmark-highlights', 'karakeep_list-highlights'],
  },
  {
    request: 'Show me my Karakeep list "Travel": its description, icon and so on',
    tools: ['karakeep_get-list', 'karakeep_get-lists'],
  },
  {
    request: 'what links have I put in my reading list?',
    tools: ['karakeep_get-list-bookmarks', 'karakeep_search-bookmarks'],
  },
  {
    request: 'How many bookmarks have the tag "cooking" in Karakeep?',
    tools: ['karakeep_get-tag', 'karakeep_get-tags'],
  },
  { request: 'I need a new budget category "Pets"', tools: ['lunchmoney_create_category'] },
  {
    request: 'Show me everything about transaction 99812 in Lunch Money',
    tools: ['lunchmoney_get_single_transaction'],
  },
  {
    request: 'I split that supermarket purchase into three parts last week, put it back together',
    tools: ['lunchmoney_unsplit_transaction'],
  },
  {
    request: 'details of my manual account "Cash box" in Lunch Money, please',
    tools: ['lunchmoney_get_single_manual_account'],
  },
  {
    request: 'How much bitcoin and other coins did I enter by hand in my budget app?',
    tools: ['lunchmoney_get_all_manual_crypto'],
  },
  {
    request: 'How has my net worth in Lunch Money developed since January?',
    tools: ['lunchmoney_get_balance_history'],
  },
  { request: 'Rename the whiteboard "Sprint 12" to "Sprint 13"', tools: ['miro_update-board'] },
  { request: 'remove the card "Fix login" from my Miro board', tools: ['miro_delete-card-item'] },
  {
    request:
      "There's a PDF on our planning whiteboard. What's its title, and where does it come from?",
    tools: ['miro_get-document-item'],
  },
  {
    request: 'Which colour and text does the shape 3458764 on the Miro board have?',
    tools: ['miro_get-shape-item'],
  },
  {
    request: 'Peter left the company, take him off the planning whiteboard',
    tools: ['miro_remove-board-member'],
  },
  {
    request: 'Is our strategy board in Miro marked as confidential?',
    tools: ['miro_get-board-classification'],
  },
  { request: 'look up the legal hold "Patent dispute 2025"', tools: ['miro_get-legal-hold'] },
  {
    request: 'Which indexes are on the orders table in MySQL?',
    tools: ['mysql_mysql_get_indexes'],
  },
  {
    request:
      'Everything looks right, so make the changes of this transaction final in the database',
    tools: ['mysql_mysql_transaction_commit'],
  },
  {
    request:
      'From the MySQL table customers, get the city out of the JSON column address, for everybody in France',
    tools: ['mysql_mysql_json_extract', 'mysql_mysql_read_query'],
  },
  {
    request:
      "In row 42 of the table settings, what's stored under theme.color in the JSON column prefs?",
    tools: ['mysql_mysql_json_get', 'mysql_mysql_json_extract', 'mysql_mysql_read_query'],
  },
  {
    request:
      'Which keys are there in the JSON column attrs of our MySQL table products, over all rows?',
    tools: ['mysql_mysql_json_normalize'],
  },
  {
    request:
      'For each row of the table people, give me first name and last name in one, with a space between',
    tools: ['mysql_mysql_concat', 'mysql_mysql_read_query'],
  },
  { request: 'switch to my biology notebook in NotebookLM', tools: ['notebooklm_select_notebook'] },
  {
    request: 'Which conversations with my notebooks are still open, and how old are they?',
    tools: ['notebooklm_list_sessions'],
  },
  {
    request:
      'NotebookLM says I reached the limit for today. Log me in with my other Google account.',
    tools: ['notebooklm_re_auth'],
  },
  {
    request: 'Give me everything in my to-do app, all tasks and projects',
    tools: ['omnifocus_dump_database', 'omnifocus_query_omnifocus'],
  },
  {
    request: 'add these six tasks for our move to OmniFocus',
    tools: ['omnifocus_batch_add_items', 'omnifocus_add_omnifocus_task'],
  },
  { request: 'Which tags do I have for my to-dos?', tools: ['omnifocus_list_tags'] },
  {
    request: 'Open-Meteo: how high above the sea is 46.85 N, 9.53 E?',
    tools: ['openmeteo_elevation'],
  },
  {
    request: 'What does the French AROME model say about rain in Lyon tomorrow?',
    tools: ['openmeteo_meteofrance_forecast'],
  },
  {
    request: 'Will it be a warm winter in Oslo? Ask Open-Meteo for the next six months.',
    tools: ['openmeteo_seasonal_forecast'],
  },
  {
    request: 'What does the price pri_01h8xyz cost, and which product does it belong to?',
    tools: ['paddle_get_price'],
  },
  {
    request: 'which addresses do we have in Paddle for customer ctm_01abc?',
    tools: ['paddle_list_addresses'],
  },
  {
    request: 'What would somebody in France pay for our Pro plan, taxes included?',
    tools: ['paddle_preview_prices'],
  },
  {
    request: 'Which cards has this customer saved in Paddle?',
    tools: ['paddle_list_saved_payment_methods'],
  },
  {
    request: 'how did our server answer each time the notification ntf_01x was delivered to it?',
    tools: ['paddle_list_notification_logs'],
  },
  {
    request: 'send this one event of the Paddle simulation run again',
    tools: ['paddle_replay_simulation_run_event'],
  },
  {
    request: 'File the electricity bill /home/me/bill.pdf in my document archive',
    tools: ['paperless_post_document'],
  },
  {
    request: 'set the title of document 812 in Paperless to "Rental contract 2026"',
    tools: ['paperless_update_document'],
  },
  {
    request: 'Delete the tag "old" for good, no scanned document should have it any more',
    tools: ['paperless_delete_tag', 'paperless_bulk_edit_tags'],
  },
  {
    request: 'Remove the correspondent "Stadtwerke alt" from Paperless, it\'s there twice',
    tools: ['paperless_delete_correspondent'],
  },
  {
    request: 'Which custom fields can I fill in for my scanned documents?',
    tools: ['paperless_list_custom_fields'],
  },
  {
    request: 'which server and user name does Paperless use for mail account 2?',
    tools: ['paperless_get_mail_account', 'paperless_list_mail_accounts'],
  },
  { request: 'Which MEPs from Ireland are in the Greens?', tools: ['parliament_get_meps'] },
  {
    request:
      'How closely do the groups in the European Parliament vote together, and would a grand coalition hold?',
    tools: ['parliament_analyze_coalition_dynamics'],
  },
  {
    request: 'Which MEPs are best connected with others through their committees?',
    tools: ['parliament_network_analysis'],
  },
  {
    request: 'What hearings and conferences are there in the European Parliament in March?',
    tools: ['parliament_get_events'],
  },
  {
    request: 'list the standard terms that MEP data is classified with',
    tools: ['parliament_get_controlled_vocabularies'],
  },
  {
    request: 'Which legislative procedures of the European Parliament were updated this week?',
    tools: ['parliament_get_procedures_feed'],
  },
  {
    request: 'Did any of the classification vocabularies for MEP data change in the last month?',
    tools: ['parliament_get_controlled_vocabularies_feed'],
  },
  {
    request: 'How is the driveway camera set up in UniFi Protect?',
    tools: ['protect_protect_get_camera', 'protect_protect_list_cameras'],
  },
  {
    request: 'Is the battery of the sensor at the basement window still OK?',
    tools: ['protect_protect_get_sensor', 'protect_protect_list_sensors'],
  },
  {
    request: 'How loud is the siren in the garden set in UniFi Protect?',
    tools: ['protect_protect_get_siren', 'protect_protect_list_sirens'],
  },
  { request: 'list the bridges of my camera system', tools: ['protect_protect_list_bridges'] },
  {
    request: 'When did the alarm hub in the hallway last report something? I use UniFi Protect.',
    tools: ['protect_protect_get_alarm_hub', 'protect_protect_list_alarm_hubs'],
  },
  {
    request:
      "what's the email address of the person with id 6421ab who can see our security cameras?",
    tools: ['protect_protect_get_user', 'protect_protect_list_users'],
  },
  {
    request: "Tonight's CI run is through. Report it with all results to Qase.",
    tools: ['qase_qase_ci_report'],
  },
  {
    request: 'start a regression run with all test cases of the checkout suite',
    tools: ['qase_qase_regression_run'],
  },
  {
    request:
      'This test failed, the cart shows the wrong total. File a critical defect for it in Qase.',
    tools: ['qase_qase_triage_defect', 'qase_qase_defect_upsert'],
  },
  { request: 'from which sites can you get recipes?', tools: ['recipes_recipe_sources'] },
  {
    request: 'save this shakshuka from NYT Cooking to my favourites',
    tools: ['recipes_recipe_save'],
  },
  {
    request: 'I made the lentil curry tonight. Four stars, but a bit too salty.',
    tools: ['recipes_recipe_log'],
  },
  {
    request: "recipes with what's in my fridge, please: eggs, spinach and feta",
    tools: ['recipes_ingredient_search', 'recipes_recipe_search'],
  },
  {
    request: 'Which vegetables are in season in November, and what can I make of them?',
    tools: ['recipes_recipe_seasonal'],
  },
  {
    request:
      'Turn this TheMealDB recipe for banana bread into something short that I can post in Slack',
    tools: ['recipes_recipe_share'],
  },
  {
    request: 'revoke the API key "old-staging" of our account for sending mail',
    tools: ['resend_remove-api-key'],
  },
  { request: 'How far is the contact import in Resend?', tools: ['resend_get-contact-import'] },
  {
    request:
      "Jane (jane@example.com) wants to get product news, but no event mails any more. Change what she's subscribed to.",
    tools: ['resend_update-contact-topics'],
  },
  {
    request:
      'There was an invoice attached to the email that came in through Resend, get me a download link',
    tools: ['resend_get-received-email-attachment'],
  },
  {
    request: 'never send mail to bob@example.org again, whatever the mail is about',
    tools: ['resend_add-suppression'],
  },
  { request: 'show me the topic "Product updates" in Resend', tools: ['resend_get-topic'] },
  {
    request:
      'Submit a job to my serverless GPU endpoint, the prompt is "a red fox in the snow". I\'ll fetch the result later.',
    tools: ['runpod_run-endpoint'],
  },
  { request: 'Deploy the vLLM worker from the RunPod Hub', tools: ['runpod_deploy-hub-repo'] },
  {
    request: "we don't need the GPU cluster from last week's training any more, delete it",
    tools: ['runpod_delete-cluster'],
  },
  { request: 'What does an H100 cost per hour on RunPod?', tools: ['runpod_get-gpu-type'] },
  { request: 'which ECR delegations do we have?', tools: ['runpod_list-delegations'] },
  {
    request: 'Which official pod templates does RunPod offer?',
    tools: ['runpod_list-public-templates'],
  },
  {
    request: 'Is there an object for warranty claims in our CRM, a standard or a custom one?',
    tools: ['salesforce_salesforce_search_objects'],
  },
  {
    request: 'add a checkbox "VIP" to Contact in Salesforce',
    tools: ['salesforce_salesforce_manage_field'],
  },
  {
    request: 'show me the code of AccountTrigger',
    tools: ['salesforce_salesforce_read_apex_trigger'],
  },
  {
    request: 'Which websites have I verified in Google Search Console?',
    tools: ['searchconsole_sites_list'],
  },
  {
    request:
      'What did people search for on Google last month when they came to our site, and how many clicked?',
    tools: ['searchconsole_analytics_query'],
  },
  {
    request: 'Which AdSense publisher accounts do I have access to?',
    tools: ['searchconsole_adsense_accounts'],
  },
  {
    request:
      'Our autumn sale page https://example.com/autumn-sale went up an hour ago. Let the search engines know so that they crawl it soon.',
    tools: ['searchconsole_indexing_submit'],
  },
  {
    request: 'compare how our site does in Google Search Console and in Bing',
    tools: ['searchconsole_compare_engines'],
  },
  {
    request: "What's on the page that is open in the browser, and what can I click on?",
    tools: ['selenium_capture_page'],
  },
  {
    request: 'with Selenium, choose cv.pdf in the upload field of the application form',
    tools: ['selenium_file_upload'],
  },
  {
    request: 'Check that the field "Total" on the page says 49.90',
    tools: ['selenium_verify_value'],
  },
  {
    request: "The Selenium browser gets recognised as a bot. Hide that it's automated.",
    tools: ['selenium_set_stealth_mode'],
  },
  {
    request: 'read me the log of what was done in the browser while the test was being generated',
    tools: ['selenium_generator_read_log'],
  },
  {
    request:
      "My Selenium test doesn't find the login button any more, compare its locators with the page",
    tools: ['selenium_healer_inspect_page'],
  },
  {
    request:
      "Find the colleague called Schneider, I'd like to start a chat with her but only know the surname",
    tools: ['teams_search_users', 'teams_search_users_for_mentions'],
  },
  {
    request: 'post in the Teams channel General that the office is closed on Friday',
    tools: ['teams_send_channel_message'],
  },
  {
    request: 'Which chats did I have lately, with one person or in a group?',
    tools: ['teams_list_chats'],
  },
  {
    request: 'Where was I mentioned in Teams this week?',
    tools: ['teams_get_my_mentions', 'teams_search_messages', 'teams_get_recent_messages'],
  },
  { request: 'show me the calls that our voice bot made today', tools: ['vapi_list_calls'] },
  {
    request: 'Which tools do we have in Vapi for our voice assistants?',
    tools: ['vapi_list_tools'],
  },
  { request: 'What DNS records does acme.dev have?', tools: ['vercel_listDnsRecords'] },
  {
    request: 'show me the access group "contractors" in Vercel',
    tools: ['vercel_readAccessGroup'],
  },
  {
    request:
      'Add a check "Lighthouse" to this deployment. It should block the deployment until it has passed.',
    tools: ['vercel_createCheck'],
  },
  {
    request: 'invite dana@example.com to our Vercel team as a developer',
    tools: ['vercel_inviteUserToTeam'],
  },
  {
    request: 'get rid of the alias preview-old.example.app of our deployment',
    tools: ['vercel_deleteAlias'],
  },
  {
    request: 'From which GitHub accounts and organisations can I import into Vercel?',
    tools: ['vercel_gitNamespaces'],
  },
  {
    request: 'Would it work to log in to my blog with a JWT instead of the application password?',
    tools: ['wordpress_wp_switch_auth_method'],
  },
  {
    request: "approve Lisa's comment on my WordPress site",
    tools: ['wordpress_wp_approve_comment', 'wordpress_wp_update_comment'],
  },
  {
    request: 'Delete the page "Imprint old" of our blog, and not only to the trash',
    tools: ['wordpress_wp_delete_page'],
  },
  {
    request: 'Who changed my WordPress post 321, and when?',
    tools: ['wordpress_wp_get_post_revisions'],
  },
  {
    request:
      'Which title and meta description has the SEO plugin of our blog set for the post about pumpkins?',
    tools: ['wordpress_wp_seo_get_live_data'],
  },
  {
    request: 'rename the WordPress category "News" to "Press"',
    tools: ['wordpress_wp_update_category'],
  },
]
