"""English words of everyday facts beyond offices and machines. A table and nothing else.

Words with the same spelling in another language are left out.
"""

EVERYDAY = frozenset(
    """
    aboard academy actor actress adult advice aisle alarm alley allotment allowance ambulance ankle
    announcement antenna apprentice apron arch armchair arrives artist athlete auction author award away
    baby badge bait baker bakery balcony ball ballet banana banner barley barn barrel basement basket bath
    bathroom battery bay beach beam beans bear beard beds bee beef bees beetle beginner bell bench berry bid
    birds biscuit bite blanket blend blind blizzard blossom blouse boiler bone booking booth border borrow
    borrows bottle bottom bowl boy bracelet brake brakes brass breakdown breath breeze brick bride bridge
    brigade broth brush bulb bulk bumper burner bush butter cabin cabinet cable cage cake campaign candle
    canteen caravan carbon carpenter carpet carriage carrot carton casting castle catering cattle ceiling
    cellar cellist cello cement ceremony chairs champion charity cheese chef chemist chemistry chest chicken
    chimney choir choirs church cider clay cleaner cleaning clerk cliff climate clinic clinical clock cloth
    clothes coach coaches coal coast coat coil collar college colony combine comedy comet compass concrete
    conductor consent cooking cooling copper cord corn corridor costume cottage cotton couch council counter
    county courier courses courtyard cow cows crack craft crates cream crew cricket crop crops crossing crow
    crowd crown cruise cruises cup cupboard curator curtain custody cutter dairy dancer dancing darts dawn
    deaf decor deed deep deer defender delegate delicate dental dentist deposit desert dessert diabetic
    diagnosis diagram diary dishes ditch diver doctors donor dough doughnut dozen drain drawer drawing dress
    drill drills drop drought drums dry duck dust duties duty dye eagle ear earth eggs eighth elbow elder
    electric electrician elevator embassy embroidery enamel engine entrance envelope equipment essay estate
    exams exhibit exhibition exit expedition extension fabric factory faculty fair falcon farmer farming
    feather feed fence fencing fermented fern ferns ferry fertilizer fever fiction fiddle fights filling
    film filter finger finish fire firewood fishing fitness fitting flavor fleet flood flooring floors
    florist flour flower flowers flu flute fog follower footage football footwear forest forklift fortnight
    foundation fountain frame freezer frost fruit funeral furniture fuse gallery galley garage garlic
    garment gearbox geography gift ginger girl glass glaze glider gloves glue goalkeeper goat gown grain
    grandson grape grass gravel gravy grazing grease greenhouse grind groom guard guests guild gutter
    gymnast halls hammer handbook hangar harbor harness harvest head headlight headmaster heater hedge heel
    heir hens herbs herd hero hill hinge hire hive hoist hole hood hook hose household housing humidity
    hunter insect inspection inspector instructor instrument insulin ironing island ivory jacket jar jaw
    jetty jewel joiner joint judge jug juice junction kettle key kite knee knife knight knot lab ladder lamb
    lantern lather laundry lawn lawyers leaf leather lecture lecturer leg lemon lender lesson lessons
    lettuce librarian lift lighthouse lighting linen litter locker lodge loft lounge luggage lumber lung
    maid marble mare marriage match mayor meadow meals mechanic medal medication melody midfielder midwife
    milk mill miner mixer mortgage moss motion mouth mug muscle mushroom musician mustard nail nanny neck
    necklace needle nephew netball niece nitrogen noise novel nursery nuts oak oats ocean onion orchard
    orchestra oven overtime oxygen oysters paddle paddock paint painter painting pallet pallets pants
    paragraph parish parrot paste pastry pasture patients pavement pear pedestrian pencil pepper perch
    performer petal petrol pharmacy photographer photographs physics pianist picnic pigs pillow pine pipe
    pitcher plaster players plumber plumbing pocket poem poet police poppy porch pork portion postman potato
    potatoes pottery poultry powder prayer pregnant princess prize professor props psychologist pumpkin
    pupil pupils puppet puppy quarry queen quilt rabbit racing rack raft railing railway rain raincoat ranch
    ranger razor receiver recital referee refrigerator rehearsal rehearsals reindeer rental rescue reservoir
    resident residents retail rhythm ribbon rider ridge rifle rinse roast robin roller rooms rope rota
    rotation rower rubber runway rye saddle sail sailing sailor salt sand sandwich sausage saw scaffold
    scarf scholar scholarship scoreboard sculptor sculpture seaside seed seedlings seeds seller semester
    seminar shade shaft shampoo shark shed sheep sheet shelf shelter shelves shepherd shield shore shoulder
    shovel shower shrub shutter sibling sick sidewalk silk sink skate skiing skin skirt sleeve slice slope
    snack snail snow soap soccer sock socks soil soldier spade spare sparrow spices spider spine spoon
    sports squad squirrel stadium stairs stamp statue steak steam steel stew stitch stomach stone stool
    stove straw strawberry stream striker strings stuffed submarine subway suit suitcase summit sunflower
    sunlight surface surgeon sweater sweet swim swimmer swimming swing tailor tanker teachers teen teeth
    telescope temple terrace textbook therapist therapy thigh thriller throat thumb tiles timber tissue
    tomato tomatoes tongue tooth tornado tortoise towel toy tractor trailer tray treasurer treaty tribe
    tripod trophy trousers trout trumpet tuition tuna turbine turkey tutor twin twins tyres umbrella
    undergraduate uniform usher vaccine valley valve varnish vegetable vegetables veil venue vessel vicar
    victim vinegar vineyard violin violinist visitor visitors voice volunteer volunteers waist waiter
    waitress walker walnut ward wardrobe wards washing waste watering waterproof weapon weaver weeds weld
    welder well wheat wheelchair whistle widow willow wine winger wire witness wooden wool wound wrist yard
    yeast yogurt youth
    departs departure fee mileage refill seating serves thermostat weigh weighs width
    """.split()
)
